"""The file system of a path or URL, as Spark has it: this machine's, HDFS, S3 and others.

Only this module reads and writes files by private names of PySpark (`_jvm`, `_jsc`), because nothing public does the same.
PySpark cannot list, rename, delete or lock files. Its readers pass over names that begin with `_` or `.`, so they see neither
Spark's mark of a complete folder nor that a folder is another program's table (`_delta_log`). Another library, such as pyarrow,
would need the settings and the credentials of each file system a second time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The files that a session reads and writes.

    context: that of a classic session; one of Spark Connect has none.
    """

    context: SparkContext

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder at this path."""
        return bool(self._of(path).exists(self._path(path)))

    def names(self, folder: str) -> list[str]:
        """Return the names of all files and folders in a folder; none if the folder does not exist."""
        if not self.exists(folder):
            return []
        return [str(status.getPath().getName()) for status in self._of(folder).listStatus(self._path(folder))]

    def rename(self, path: str, other: str) -> None:
        """Give a file or folder another path in the same file system."""
        self._of(path).rename(self._path(path), self._path(other))

    def delete(self, path: str) -> None:
        """Delete a file, or a folder and all that is in it, if it exists."""
        self._of(path).delete(self._path(path), True)

    def opened_here(self, folder: str, name: str) -> Any:
        """Return a file that Java opens to write, a java.io.RandomAccessFile. The folder is made if it does not exist.

        Returns None if the folder is not on this machine.
        """
        files = self._of(folder)
        if files.getUri().getScheme() != "file":
            return None
        files.mkdirs(self._path(folder))
        place = files.makeQualified(self._path(folder)).toUri().getPath()
        return self._java.java.io.RandomAccessFile(f"{place}/{name}", "rw")

    def _of(self, path: str) -> Any:
        return self._path(path).getFileSystem(self.context._jsc.hadoopConfiguration())

    def _path(self, path: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(path)

    @property
    def _java(self) -> Any:
        return self.context._jvm

"""The images can be built with only a private package index, which has its own certificate authority."""

from __future__ import annotations

import http.server
import json
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_network
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from packaging.utils import canonicalize_name, parse_wheel_filename

from tests.support.compose_stack import engine_is_there

pytestmark = pytest.mark.compose

BUILD_S = 600
TAG = "pflab-needs:test"
IMAGE = "pflab:private"
HOST = "index.test"
BACKEND = "hatchling"
"""What builds our own package, which pip fetches beside what pyproject.toml names."""


@dataclass(slots=True)
class Index:
    """A running index.

    `asked`: the files downloaded from it; `named`: a compose file that gives it a host name, because pip cannot verify a bare
        address.
    """

    conf: Path
    ca: Path
    named: Path
    asked: list[str] = field(default_factory=list)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves folders of files with listings in the form of PEP 503's simple index."""

    def __init__(self, asked: list[str], *rest: object, directory: str) -> None:
        self._asked = asked
        super().__init__(*rest, directory=directory)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        if self.path.endswith(".whl"):
            self._asked.append(self.path.rpartition("/")[2])


def _run(order: list[str], root: Path, **given: str) -> str:
    done = subprocess.run(
        order, cwd=root, env={**os.environ, **given}, capture_output=True, text=True, timeout=BUILD_S, check=False
    )
    assert done.returncode == 0, f"{' '.join(order)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def _authority(folder: Path) -> ssl.SSLContext:
    """Make a self-signed certificate for the index: a client that has `ca.crt` trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A private index")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "ca.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.crt", folder / "key")
    return context


def _collect_wheels(root: Path, shelf: Path) -> None:
    """Collect all wheels that an image needs, as chosen by the image's own Python."""
    wheels = shelf / "all"
    wheels.mkdir(parents=True)
    _run(
        ["docker", "buildx", "build", "--load", "-q", "-f", "compose/Dockerfile", "--target", "needs", "-t", TAG, "."],
        root,
    )
    fetch = ["/opt/pflab/bin/python", "-m", "pip", "download", "--quiet", "-d", "/wheels", "-c", "constraints.txt"]
    _run(
        ["docker", "run", "--rm", "-v", f"{wheels}:/wheels", TAG, *fetch, "-r", "requirements.txt", BACKEND],
        root,
    )
    for wheel in wheels.iterdir():
        place = shelf / "simple" / canonicalize_name(parse_wheel_filename(wheel.name)[0])
        place.mkdir(parents=True, exist_ok=True)
        wheel.rename(place / wheel.name)


@pytest.fixture
def index(project_root: Path, tmp_path: Path) -> Iterator[Index]:
    """An index that containers reach at the engine's bridge address, over TLS only."""
    missing = engine_is_there(os.environ.get("PFLAB_DOCKER_ENGINE"))
    if missing:
        pytest.skip(missing)
    shelf = tmp_path / "shelf"
    _collect_wheels(project_root, shelf)
    (bridge,) = json.loads(_run(["docker", "network", "inspect", "bridge"], project_root))
    (net,) = (each for each in bridge["IPAM"]["Config"] if ":" not in each["Subnet"])
    # An engine that has just been installed does not tell the gateway yet: it is the first address.
    address = net.get("Gateway") or str(next(ip_network(net["Subnet"]).hosts()))
    found = Index(tmp_path / "pip.conf", tmp_path / "ca.crt", tmp_path / "named.yaml")
    server = http.server.ThreadingHTTPServer((address, 0), partial(_Handler, found.asked, directory=str(shelf)))
    server.socket = _authority(tmp_path).wrap_socket(server.socket, server_side=True)
    found.conf.write_text(f"[global]\nindex-url = https://{HOST}:{server.server_port}/simple\n", "utf-8")
    found.named.write_text(f"services: {{lab: {{build: {{extra_hosts: ['{HOST}:{address}']}}}}}}\n", "utf-8")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        subprocess.run(["docker", "image", "rm", TAG, IMAGE], capture_output=True, check=False)


def test_an_image_builds_from_a_private_index(project_root: Path, index: Index) -> None:
    """With PFLAB_PIP_CONF and PFLAB_CA and no edited file, every package comes from that index, and neither stays in the
    image."""
    files = f"docker-compose.yml:{index.named}"
    given = {
        "COMPOSE_FILE": files,
        "PFLAB_PIP_CONF": str(index.conf),
        "PFLAB_CA": str(index.ca),
        "PFLAB_TAG": "private",
    }
    _run(["docker", "compose", "--progress", "plain", "build", "--no-cache", "lab"], project_root, **given)
    taken = {canonicalize_name(parse_wheel_filename(each)[0]) for each in index.asked}
    wanted = {path.name for path in index.conf.with_name("shelf").joinpath("simple").iterdir()}
    assert wanted <= taken, "everything was taken from it"
    said = _run(["docker", "run", "--rm", IMAGE, "--version"], project_root)
    assert said.startswith("pflab")
    layers = _run(["docker", "history", "--no-trunc", IMAGE], project_root)
    kept = _run(
        ["docker", "run", "--rm", "--entrypoint", "sh", IMAGE, "-c", "ls /run/secrets /etc/pip.conf; true"],
        project_root,
    )
    assert HOST not in layers and kept == ""

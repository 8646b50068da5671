"""The base of labs with real sockets: a clock, faults, a record, and hosts that start and stop.

`pflab.drivers.live` runs the nodes in its own event loop; `pflab.drivers.remote_lab` manages them over HTTP. They differ in the
class of their hosts.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, ParamSpec, TypedDict, TypeVar, Unpack

import aiosmtplib
import msgspec

from node.errors import MailRefused, NotRunning
from node.state.database import Database
from pflab.errors import LabError
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import RecentMails, with_capture
from pflab.lab.coordinator import Coordinator, Timed
from pflab.lab.outside_mail import OUTSIDE_HOST, check_addresses, check_taken, with_line_ends
from pflab.lab.recorded_lab import RecordedLab
from pflab.lab.served_lab import ServedLab
from pflab.runs.backups import BACKUPS
from pflab.runs.continued import link_all
from pflab.runs.lab_state import Driver, LabState, RunSettings, ServerStatus, write_state
from pflab.runs.recorder import Record
from traces.segments import list_segments

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.lab.servers import LabServer
    from pflab.runs.continued import Earlier
    from pflab.runs.run_folder import RunFolder
    from topology.model import Topology
    from traces.labtime import LabTime

log = logging.getLogger("pflab.drivers.socket_lab")

HostT = TypeVar("HostT", bound=Timed)
"""The class of the object that a lab has for each running server."""

P = ParamSpec("P")


class SocketOptions(TypedDict, total=False):
    """The options of every live lab. `seed` fixes GUIDs and keys, but not the order of events, which the network decides.

    run: the run's id; default: the names of the run folder and of its parent folder.
    tls: servers offer STARTTLS with certificates of the lab's authority, and refuse unencrypted mail with 530.
    imap_token: servers also listen for IMAP, and this is the users' password; needs the extra imap.
    imap_port: the port of the first server, and the others have the ports after it; 0: free ports.
    earlier: the run that this one continues, whose databases and traces the run folder has.
    most_events: see `pflab.runs.recorder`.
    """

    seed: int
    run: str | None
    durability: Literal["full", "normal"]
    tls: bool
    imap_token: str | None
    imap_port: int
    earlier: Earlier | None
    most_events: int | None


class SocketLab(RecordedLab, ServedLab, Generic[HostT]):
    """A live lab.

    folder: where databases and traces go. See `SocketOptions` for the options. The clock is paused until
    `set_rate`, `step`, `advance` or `until` move it.
    """

    coordinator: Coordinator

    def __init__(
        self, topology: Topology, *, folder: RunFolder, record: Record | None = None, **options: Unpack[SocketOptions]
    ) -> None:
        seed, tls, durability = options.get("seed", 1), options.get("tls", False), options.get("durability", "normal")
        earlier = options.get("earlier")
        self._earlier_end = None if earlier is None else earlier.end
        run = options.get("run") if earlier is None else earlier.end.run
        run = run if run is not None else folder.name
        if record is None:
            record = Record(
                run,
                folder=folder,
                now=lambda: self.now,
                real_time=time.time,
                most=options.get("most_events"),
                earlier=() if earlier is None else earlier.events,
                synced=durability == "full",
            )
        imap_token, self._first_imap_port = options.get("imap_token"), options.get("imap_port", 0)
        settings = RunSettings(
            driver=self.driver,
            durability=durability,
            tls=tls,
            imap_port=None if imap_token is None else self._first_imap_port,
            keeps_mails=folder.keeps_mails,
        )
        super().__init__(topology, seed=seed, run=run, record=record, folder=folder, settings=settings)
        self._folder = folder
        self._durability = durability
        self.faults = FaultPlan(
            topology,
            now=lambda: self.now,
            injected=_followed_by(self._faults_changed, self._fault_injected),
            altered=_followed_by(self._faults_changed, record.fault_altered),
            healed=_followed_by(self._faults_changed, self._fault_healed),
            simulated=False,
            tls=tls,
        )
        self.recent_mails = RecentMails()
        self.decide = with_capture(self.faults.decide, folder, self.recent_mails.keep)
        self._hosts: dict[str, HostT] = {}
        self._tls = tls
        self._imap_token = imap_token

    driver: ClassVar[Driver]

    @property
    def history(self) -> str:
        return self.run if self._earlier_end is None else self._folder.name

    @property
    def now(self) -> LabTime:
        return self.coordinator.now

    @property
    def folder(self) -> Path:
        return self._folder.path

    # --- a run that continues an earlier one

    def _recall_earlier(self) -> None:
        """Continue with the state of the run that this one continues."""
        if self._earlier_end is not None:
            self._recall(self._earlier_end)

    def _begin_run(self) -> list[LabServer]:
        """Record that the run begins, or continue the earlier one. Return the servers to start."""
        if self._earlier_end is None:
            self.record.run_started(self.topology, self.seed, driver=self.driver, durability=self._durability)
            self._keep_state()
            return self._servers.present_at_start()
        self._folder.write_inputs(self.topology.as_yaml(), self.seed)
        self.record.lock()
        self._keep_state()
        ran = self._servers.running()
        for server in ran:
            server.status = ServerStatus.STOPPED
        crashed = [name for name, server in self._earlier_end.servers.items() if server.restarts_at is not None]
        return ran + [self._servers.server(name) for name in crashed]  # of a simulated lab, where they come back later

    def _keep_state(self) -> None:
        """Write the state from which another run can continue."""
        try:
            write_state(self._folder.path, self._state())
        except OSError as error:
            log.warning("the state of the lab cannot be written: %s", error.strerror or error)

    # --- a lab that is saved

    def _copy_database(self, name: str, folder: RunFolder) -> None:
        """Copy the database of a store that does not run. Raises LabError if it is damaged."""
        path = self._folder.database(name)
        try:
            folder.write_database(name, Database.copy_of(path))
        except sqlite3.Error as error:
            raise LabError(f"the database of server {name} is damaged ({error})") from error

    def _copy_files(self, folder: RunFolder, *, traces: bool) -> None:
        """Write the state, and what is in files already: traces, backups, topology and seed."""
        if traces:
            link_all((path for _, path in list_segments(self._folder.traces)), folder.traces)
            self.record.write_copy(folder.traces)
        link_all((self._folder.path / BACKUPS).glob("*"), folder.path / BACKUPS)
        folder.write_inputs(self.topology.as_yaml(), self.seed)
        write_state(folder.path, msgspec.structs.replace(self._state(), rate=0.0))

    # --- time

    @property
    def rate(self) -> float:
        return self.coordinator.rate

    @property
    def warping(self) -> bool:
        return self.coordinator.warping

    async def set_rate(self, rate: float) -> None:
        await self.coordinator.set_rate(rate)

    async def settle(self) -> None:
        await self._before_move()
        await self.coordinator.quiet()

    async def step(self, limit_at: LabTime | None = None) -> bool:
        await self._before_move()
        return await self.coordinator.step(limit_at)

    async def advance(self, to_at: LabTime) -> None:
        await self._before_move()
        await self.coordinator.warp(to_at)

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        await self._before_move()
        return await self.coordinator.warp(limit_at, predicate)

    async def _before_move(self) -> None:
        """Complete everything that must be complete before lab time moves."""

    def _faults_changed(self) -> None:
        """Called whenever a fault begins, ends, or alters a mail."""
        self.coordinator.watch_faults()

    # --- closing

    async def close(self) -> None:
        self.coordinator.unwatch_faults()
        try:
            if self.coordinator.rate and not self._closed:
                await self.coordinator.pause()  # so that the run and all its stores end at one lab time
        finally:
            await super().close()

    async def _end(self) -> None:
        end = self._state()
        await self._stop_everything()
        self._keep_end(end)

    def _keep_end(self, end: LabState) -> None:
        """Write the state of the lab before its servers stopped."""
        write_state(self._folder.path, end)

    async def _stop_everything(self) -> None:
        for failed in await self._stop_all():
            raise failed

    async def _stop_all(self) -> list[BaseException]:
        """Stop every host, even if some fail; return the errors. A server that just starts or stops does so first."""

        async def stop(server: LabServer) -> None:
            async with server.life:
                if server.name in self._hosts:
                    await self._stop(server.name)

        results = await asyncio.gather(*[stop(server) for server in self._servers.all()], return_exceptions=True)
        return [result for result in results if isinstance(result, BaseException)]

    # --- hosts

    def failure_of(self, name: str) -> Exception | None:
        host = self._hosts.get(name)
        return None if host is None else host.failure

    def _hosts_in_order(self) -> list[HostT]:
        return [self._hosts[name] for name in self._servers.names if name in self._hosts]

    def _imap_port(self, name: str) -> int:
        """Return the port at which a server listens for IMAP; 0 for a free one."""
        return self._first_imap_port and self._first_imap_port + self.organization.servers[name].place

    def _host(self, name: str) -> HostT:
        server = self._servers.server(name)
        host = self._hosts.get(name)
        if host is None:
            raise NotRunning(f"server {name} {server.status.words}; start it first")
        return host


def _followed_by(then: Callable[[], None], act: Callable[P, None]) -> Callable[P, None]:
    def both(*args: P.args, **kwargs: P.kwargs) -> None:
        act(*args, **kwargs)
        then()

    return both


async def send_mail(address: Address, sender: str, recipients: Sequence[str], content: bytes) -> Mapping[str, str]:
    """Send ordinary mail to a server by SMTP, as any mail program does. Return the refused recipients, each with the reply.

    Raises MailRefused if the server refuses the mail or all recipients, Misuse for what is not a mail address, and LabError if
    SMTP fails.

    The client uses STARTTLS if the server offers it. It trusts every certificate, because it does not know the lab's authority.
    """
    check_addresses(sender, recipients)
    host, port = address
    try:
        client = aiosmtplib.SMTP(hostname=host, port=port, local_hostname=OUTSIDE_HOST, validate_certs=False)
        async with client:
            answers, _ = await client.sendmail(sender, list(recipients), with_line_ends(content))
    except aiosmtplib.SMTPRecipientsRefused as error:
        check_taken(
            recipients, {refusal.recipient: MailRefused(refusal.code, refusal.message) for refusal in error.recipients}
        )
        raise
    except aiosmtplib.SMTPResponseException as error:
        raise MailRefused(error.code, error.message) from error
    except aiosmtplib.SMTPException as error:
        raise LabError(f"the mail was not accepted: {error}; send it again") from error
    return {refused: f"{answer.code} {answer.message}" for refused, answer in answers.items()}

"""Run each kind of step on a lab. A step is skipped if its target does not exist.

Steps name folders and messages by labels. When a step creates an object, the runner remembers the object's id under its label,
so that later steps on any store find the object.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from node.errors import InternalError, NodeError
from node.views import BatchMade, Changed, FoldersChanged, Made, Resolved
from node.views import Post as Posted
from pflab.campaign.fault_actions import stop_server
from pflab.campaign.plans import plan
from pflab.terms.folder_ids import HIERARCHY

if TYPE_CHECKING:
    from node.store.node import Node
    from node.views import FolderView, MessageView
    from pflab.simulation.simulator import Simulator
    from traces.labtime import LabTime

T = TypeVar("T")
Answer = TypeVar("Answer", Made, Changed, BatchMade, Resolved, FoldersChanged)
"""What a store answers to a change that has change numbers."""

SUSPENDED = "Content Replication Suspended"


class StepRunner:
    """Runs steps on a lab, and remembers which id each label means. When a store acknowledges a step, the runner calls
    `acknowledged(store, changes)` with the change numbers."""

    def __init__(self, lab: Simulator, acknowledged: Callable[[str, Sequence[str]], None]) -> None:
        self.lab = lab
        self._acknowledged = acknowledged
        self._folders: dict[str, str] = {}
        self._messages: dict[str, tuple[str, str]] = {}
        self.steps_run = 0
        self.skipped = 0

    def begin(self) -> None:
        """Give each folder of the topology its path as label."""
        first = next(name for name in self.lab.names if self.lab.running(name))
        for view in self.lab.read(first, lambda node: node.folders()):
            self._folders[view.path] = view.id

    async def run(self, step: plan.AnyStep) -> None:
        """Run one step. Raises InternalError if the store fails."""
        self.steps_run += 1
        self.skipped += 0 if await _STEPS[type(step)](self, step) else 1

    # -- for the functions of the steps

    async def do(self, store: str, change: Callable[[Node, LabTime], T]) -> T | None:
        """Apply a change on a store. Return the answer, or None if the store refuses or crashes.

        Raises InternalError if the store fails.
        """
        if store not in self.lab.names:
            return None
        try:
            return await self.lab.do(store, change)
        except NodeError:
            return None
        except Exception as error:
            raise InternalError.of(f"server {store}", "while serving a user", error) from error

    async def change(self, store: str, change: Callable[[Node, LabTime], Answer]) -> Answer | None:
        """Apply a change on a store. Return what the store acknowledged; None if it changed nothing."""
        answer = await self.do(store, change)
        if answer is None:
            return None
        changes = [answer.change] if isinstance(answer, Made | Changed) else answer.changes
        if not changes:
            return None
        self._acknowledged(store, changes)
        return answer

    def view(self, store: str, label: str | None) -> FolderView | None:
        """Return a folder as a store shows it now, or None if the store does not show it."""
        id_ = self._folders.get(label) if label is not None else None
        if id_ is None or store not in self.lab.names or not self.lab.running(store):
            return None
        views = self.lab.read(store, lambda node: node.folders())
        return next((view for view in views if view.id == id_ and not view.hidden), None)

    def path(self, store: str, label: str | None) -> str | None:
        """Return the path of a folder as a store shows it now; without a label, the name of the hierarchy."""
        if label is None:
            return HIERARCHY
        view = self.view(store, label)
        return None if view is None else view.path

    def message(self, store: str, label: str) -> tuple[str, MessageView] | None:
        """Return a message as a store shows it now, with its folder's path."""
        path, id_ = self.place_of(store, label)
        if path is None:
            return None
        messages = self.lab.read(store, lambda node: node.messages(path))
        found = next((message for message in messages if message.id == id_), None)
        return None if found is None else (path, found)

    def place_of(self, store: str, label: str) -> tuple[str | None, str]:
        """Return the path of a message's folder as a store shows it now, and the id of the message, which may be deleted.

        The path is None if the store does not show the folder, or if the message was never posted.
        """
        id_, folder = self._messages.get(label, ("", ""))
        if not id_ or store not in self.lab.names or not self.lab.running(store):
            return None, id_
        views = self.lab.read(store, lambda node: node.folders())
        return next((view.path for view in views if view.id == folder and not view.hidden), None), id_

    def name_folder(self, label: str, id_: str) -> None:
        self._folders[label] = id_

    def name_message(self, label: str, id_: str, folder: str) -> None:
        self._messages[label] = (id_, folder)


# -- messages


async def _post(runner: StepRunner, step: plan.Post) -> bool:
    view = runner.view(step.on, step.folder)
    if view is None:
        return False
    path, labels = view.path, step.labels()
    posts = [Posted(subject=f"post {label}", body=text_of(label, step.size)) for label in labels]
    ids: list[str] = []
    if step.associated:
        for post in posts:
            made = await runner.change(step.on, partial(_post_associated, path, post))
            ids += [made.id] if made is not None else []
    else:
        batch = await runner.change(step.on, lambda node, now: node.post_batch(now, path, posts))
        ids = batch.ids if batch is not None else []
    for label, id_ in zip(labels, ids, strict=False):
        runner.name_message(label, id_, view.id)
    return bool(ids)


def _post_associated(path: str, post: Posted, node: Node, now: LabTime) -> Made:
    return node.post(now, path, subject=post.subject, body=post.body, associated=True)


def text_of(label: str, size: int) -> str:
    """Return a body of `size` letters that contains the label of the message."""
    line = f"This is {label}.\n"
    return (line * (size // len(line) + 1))[:size]


async def _edit(runner: StepRunner, step: plan.Edit) -> bool:
    found = runner.message(step.on, step.message)
    if found is None:
        return False
    path, message = found
    subject = f"{step.message} by {step.on}"
    return bool(await runner.change(step.on, lambda node, now: node.edit(now, path, message.id, subject=subject)))


async def _delete(runner: StepRunner, step: plan.Delete) -> bool:
    found = runner.message(step.on, step.message)
    if found is None:
        return False
    path, message = found
    return bool(await runner.change(step.on, lambda node, now: node.delete(now, path, message.id)))


async def _resolve(runner: StepRunner, step: plan.Resolve) -> bool:
    found = runner.message(step.on, step.message)
    if found is None or len(found[1].versions) < 2:  # where the last writer wins, other versions are hidden (CF-4)
        return False
    path, message = found
    keep = {"shown": message.versions[0], "last": message.versions[-1], "all": "all"}[step.keep]
    return bool(await runner.change(step.on, lambda node, now: node.resolve(now, path, message.id, keep)))


async def _recover(runner: StepRunner, step: plan.Recover) -> bool:
    path, id_ = runner.place_of(step.on, step.message)
    return path is not None and bool(await runner.change(step.on, lambda node, now: node.recover(now, path, id_)))


# -- folders


async def _create_folder(runner: StepRunner, step: plan.CreateFolder) -> bool:
    above = runner.view(step.on, step.under)
    if step.under is not None and above is None:
        return False
    path = step.title if above is None else f"{above.path}/{step.title}"
    replicas = [store for store in step.replicas if store in runner.lab.names]
    made = await runner.change(
        step.on,
        lambda node, now: node.create_folder(
            now, path, replicas=replicas or None, schedule=step.schedule, contacts=step.contacts
        ),
    )
    if made is not None:
        runner.name_folder(step.label, made.id)
    return made is not None


async def _change(runner: StepRunner, on: str, label: str, **what: Any) -> bool:
    view = runner.view(on, label)
    if view is None:
        return False
    return bool(await runner.change(on, lambda node, now: node.change_folder(now, view.path, **what)))


async def _rename_folder(runner: StepRunner, step: plan.RenameFolder) -> bool:
    return await _change(runner, step.on, step.folder, rename=step.title)


async def _move_folder(runner: StepRunner, step: plan.MoveFolder) -> bool:
    above = runner.view(step.on, step.under)
    if step.under is not None and above is None:
        return False
    return await _change(runner, step.on, step.folder, move_to="" if above is None else above.path)


async def _change_folder(runner: StepRunner, step: plan.ChangeFolder) -> bool:
    return await _change(
        runner,
        step.on,
        step.folder,
        schedule=step.schedule,
        priority=step.priority,
        resolve=step.resolve,
        contacts=step.contacts,
        warning_limit=step.warning_limit,
        post_limit=step.post_limit,
        item_limit=step.item_limit,
    )


async def _delete_folder(runner: StepRunner, step: plan.DeleteFolder) -> bool:
    view = runner.view(step.on, step.folder)
    if view is None:
        return False
    return await runner.do(step.on, lambda node, now: node.delete_folder(now, view.path)) is not None


async def _add_replica(runner: StepRunner, step: plan.AddReplica) -> bool:
    view = runner.view(step.on, step.folder)
    if view is None or step.store in view.replicas or step.store not in runner.lab.names:
        return False
    return await _change(runner, step.on, step.folder, replicas=(*view.replicas, step.store))


async def _remove_replica(runner: StepRunner, step: plan.RemoveReplica) -> bool:
    view = runner.view(step.on, step.folder)
    if view is None or step.store not in view.replicas or len(view.replicas) == 1:
        return False
    replicas = tuple(store for store in view.replicas if store != step.store)
    return await _change(runner, step.on, step.folder, replicas=replicas)


async def _join(runner: StepRunner, step: plan.Join) -> bool:
    servers = runner.lab.topology.servers
    if step.store not in servers or not servers[step.store].joins_later or not runner.lab.absent(step.store):
        return False
    await runner.lab.start(step.store)
    return True


async def _suspend_content(runner: StepRunner, step: plan.SuspendContent) -> bool:
    del step
    return await set_suspended(runner, suspended=True)


async def _resume_content(runner: StepRunner, step: plan.ResumeContent) -> bool:
    del step
    return await set_suspended(runner, suspended=False)


async def set_suspended(runner: StepRunner, *, suspended: bool) -> bool:
    """Suspend or resume content on every running store that supports it (RP-5). Return whether any store changed."""
    lab = runner.lab
    running = [store for store in lab.names if lab.running(store)]
    others = [
        store for store in running if lab.read(store, lambda node: node.settings().content_suspended) != suspended
    ]
    for store in others:
        await runner.do(store, lambda node, now: node.configure(now, {SUSPENDED: int(suspended)}))
    return bool(others)


async def _add_replicas(runner: StepRunner, step: plan.AddReplicas) -> bool:
    return await _order(runner, step, lambda node, now, path: node.change_replicas(now, path, add=[step.store]))


async def _remove_replicas(runner: StepRunner, step: plan.RemoveReplicas) -> bool:
    return await _order(runner, step, lambda node, now, path: node.change_replicas(now, path, remove=[step.store]))


async def _replace_replicas(runner: StepRunner, step: plan.ReplaceReplicas) -> bool:
    return await _order(
        runner, step, lambda node, now, path: node.change_replicas(now, path, replace=step.store, by=step.to)
    )


async def _propagate(runner: StepRunner, step: plan.Propagate) -> bool:
    return await _order(runner, step, lambda node, now, path: node.propagate(now, path, step.properties))


async def _order(runner: StepRunner, step: Any, order: Callable[[Node, LabTime, str], FoldersChanged]) -> bool:
    path = runner.path(step.on, step.folder)
    return path is not None and bool(await runner.change(step.on, lambda node, now: order(node, now, path)))


async def _resend(runner: StepRunner, step: plan.Resend) -> bool:
    path = runner.path(step.on, step.folder)
    to = None if step.store is None else [step.store]
    return path is not None and bool(
        await runner.do(step.on, lambda node, now: node.send_again(now, path, days=step.days, to=to))
    )


async def _synchronize(runner: StepRunner, step: plan.Synchronize) -> bool:
    path = runner.path(step.on, step.folder)
    return path is not None and bool(await runner.do(step.on, lambda node, now: node.synchronize(now, path)))


async def _send_mail(runner: StepRunner, step: plan.SendMail) -> bool:
    view, recipient = runner.view(step.on, step.folder), runner.view(step.on, step.recipient)
    if view is None or recipient is None or recipient.address is None:
        return False
    path, to = view.path, [recipient.address]
    return bool(
        await runner.do(step.on, lambda node, now: node.send_mail(now, path, to=to, subject=f"mail {step.title}"))
    )


async def end_never(runner: StepRunner) -> None:
    """Set the schedule of each folder that has the schedule "never" to always, so that its content can converge (OUT-1).

    A store that was restored may not know the folder or its schedule any more. So every store that runs is asked.
    """
    lab = runner.lab
    ended = set()
    for on in [store for store in lab.names if lab.running(store)]:
        for view in lab.read(on, lambda node: node.folders()):
            if view.schedule == "never" and not view.hidden and view.id not in ended:
                await runner.change(
                    on,
                    lambda node, now, path=view.path: node.change_folder(now, path, schedule="always"),  # type: ignore[misc]
                )
                ended.add(view.id)


async def _delete_store(runner: StepRunner, step: plan.DeleteStore) -> bool:
    lab = runner.lab
    both = (step.on, step.store)
    if step.on == step.store or any(each not in lab.names or lab.absent(each) for each in both):
        return False
    through = {end for connector in lab.topology.connectors for end in connector.bridgeheads}
    able = lab.running(step.on) and not lab.environment.silent(step.on, lab.now) and not lab.faults.has_crashes
    if lab.deleted(step.store) or step.store in through or not able:
        return False
    await stop_server(lab, step.store, kill=False)
    await lab.delete_store(step.store, on=step.on, force=True)
    return True


_STEPS: Mapping[type[plan.Step], Callable[[StepRunner, Any], Awaitable[bool]]] = {
    plan.Post: _post,
    plan.Edit: _edit,
    plan.Delete: _delete,
    plan.Resolve: _resolve,
    plan.Recover: _recover,
    plan.CreateFolder: _create_folder,
    plan.RenameFolder: _rename_folder,
    plan.MoveFolder: _move_folder,
    plan.ChangeFolder: _change_folder,
    plan.DeleteFolder: _delete_folder,
    plan.AddReplica: _add_replica,
    plan.RemoveReplica: _remove_replica,
    plan.Join: _join,
    plan.SuspendContent: _suspend_content,
    plan.ResumeContent: _resume_content,
    plan.AddReplicas: _add_replicas,
    plan.RemoveReplicas: _remove_replicas,
    plan.ReplaceReplicas: _replace_replicas,
    plan.Propagate: _propagate,
    plan.Resend: _resend,
    plan.Synchronize: _synchronize,
    plan.SendMail: _send_mail,
    plan.DeleteStore: _delete_store,
}
"""For each kind of step, the function that runs it and returns whether it did something."""

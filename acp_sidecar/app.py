"""Puts the rooms together; the only place that knows all of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from acp_sidecar import __version__, folders
from acp_sidecar.acp.model import Notice
from acp_sidecar.agents import registries
from acp_sidecar.agents.catalog import AgentEntry, catalog
from acp_sidecar.agents.finding import Finder
from acp_sidecar.agents.registry import RegistryUnreadable
from acp_sidecar.client.index import SessionIndex
from acp_sidecar.client.ledgers import Ledgers
from acp_sidecar.client.ports import (
    Asked,
    Attachment,
    LoginCommand,
    Question,
    Refused,
    SessionView,
    Severity,
    Variable,
    visible,
)
from acp_sidecar.client.roster import Roster
from acp_sidecar.client.sessions import Sessions
from acp_sidecar.configuration import REGISTRATION as CONFIGURATION
from acp_sidecar.configuration import Configuration
from acp_sidecar.editor import commands
from acp_sidecar.editor.capabilities import ClientFeatures
from acp_sidecar.editor.completion import REGISTRATION as COMPLETION
from acp_sidecar.editor.completion import Completion
from acp_sidecar.editor.deleting import Deleting
from acp_sidecar.editor.dialogs import Dialogs
from acp_sidecar.editor.edits import Edits
from acp_sidecar.editor.elicitation import OwnForms, PlainForms
from acp_sidecar.editor.follow import Follow
from acp_sidecar.editor.lenses import CAPABILITIES as LENSES
from acp_sidecar.editor.lenses import Lenses
from acp_sidecar.editor.login import LoginPlaces
from acp_sidecar.editor.messages import Messages
from acp_sidecar.editor.mirroring import Mirroring
from acp_sidecar.editor.pages import Pages
from acp_sidecar.editor.progress import Progress
from acp_sidecar.editor.proposing import Proposing
from acp_sidecar.editor.renaming import CAPABILITY as RENAMES
from acp_sidecar.editor.renaming import Renaming
from acp_sidecar.editor.reveal import Reveals
from acp_sidecar.editor.review import Review
from acp_sidecar.editor.selecting import Selecting
from acp_sidecar.editor.server import (
    ClientError,
    ClientGone,
    CommandError,
    SidecarServer,
)
from acp_sidecar.editor.terminals import Terminals
from acp_sidecar.editor.transcript import Transcript
from acp_sidecar.editor.turns import Turns
from acp_sidecar.editor.watching import REGISTRATION as WATCHED_FILES
from acp_sidecar.editor.watching import Watching
from acp_sidecar.session.change import Change, NoticeAdded
from acp_sidecar.settings import Problem, Settings
from acp_sidecar.tasks import Tasks
from acp_sidecar.workspace.documents import Documents, Habits
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.positions import Encoding
from acp_sidecar.workspace.uris import uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.trace import Recorder, Wire
    from acp_sidecar.workspace.proposal import Proposal

logger = logging.getLogger(__name__)

_NOTICES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning"}
_ANSWER_SECONDS: Final = 30


class App:
    """One sidecar: an editor, its settings, and the sessions in it.

    Implements ``client.ports.Editor``. Everything that depends on the editor's
    capabilities is made when ``initialize`` has come.
    """

    def __init__(
        self, server: SidecarServer, settings: Settings, recorder: Recorder | None = None
    ) -> None:
        self._server = server
        self._messages = Messages(server)
        self._configuration = Configuration(settings, self._ask, self.tell, self._follow_setting)
        self._recorder = recorder
        self.features = ClientFeatures()
        self._tasks = Tasks(server.spawn)
        self.documents = Documents()
        self._edits = Edits(server, lambda: self.features)
        self.files = Files(self.documents, self._edits.apply, taken_back=self._taken_back)
        self.sessions = Sessions(
            self,
            self.documents,
            self.files,
            self._catalog,
            lambda: self.settings,
            server.spawn,
            self._recording,
            Ledgers(self.files, folders.baselines(), folders.checkpoints()),
            SessionIndex(folders.sessions()),
            folders.unfinished(),
        )
        self._lenses = Lenses(
            server,
            self.sessions.sessions,
            lambda: self._review,
            self.documents,
            self.files,
            lambda: self.features,
            self._tasks,
        )
        self._roster = Roster(_known_agents, Finder(), self._tell_of_registry)
        self._mirroring = Mirroring(
            self.documents,
            self.files,
            self.sessions.sessions,
            lambda: self._follow.watches and not self.features.user_edits,
            lambda: self._follow.user_acted(),
        )
        self._listen()

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._configuration.now

    def _surfaces(self) -> None:
        """Make what depends on the editor's capabilities."""
        server, features = self._server, self.features
        self._follow_wanted = self.settings.follow_enabled
        self._transcript = Transcript(server, wanted=features.transcript)
        self._terminals = Terminals(server, wanted=features.terminals)
        self._progress = Progress(server, self._tasks, supported=features.progress)
        self._turns = Turns(self._progress, self.sessions.cancel)
        self._dialogs = Dialogs(
            server,
            lambda: self.sessions,
            self._tasks,
            own=features.permission,
            reminder=lambda: self.settings.dialog_reminder,
        )
        self._pages = Pages(server, features, lambda text: self.tell("info", text))
        self._forms = (OwnForms if features.elicitation else PlainForms)(
            server, self._dialogs, self.sessions, self._tasks, self.tell
        )
        self._selecting = Selecting(server, features)
        self._login_places = LoginPlaces(server, features)
        self._follow = Follow(
            Reveals(server, self.documents, self.files, features, self._folder_paths).reveal,
            self._follow_moved,
            self._tasks,
            enabled=self._follow_wanted,
            per_second=lambda: self.settings.follow_per_second,
            folders=self._folder_paths,
            congested=lambda: server.congested,
        )
        self._review = Review(
            server,
            self.documents,
            self.files,
            wanted=features.changes,
            warn=lambda text: self.tell("warning", text),
            moved=self._lenses.moved,
            deleting=Deleting(self._dialogs, self._tasks),
        )
        self._proposing = Proposing(
            self._dialogs, self._review, self._lenses, self._tasks, features
        )
        self._operations = commands.Operations(
            client=self.sessions,
            follow=self._follow,
            review=self._review,
            lenses=self._lenses,
            progress=self._progress,
            dialogs=self._dialogs,
            forms=self._forms,
            encoding=lambda: self.documents.encoding,
            default_cwd=self._default_cwd,
            agents=self._agents,
        )

    def _listen(self) -> None:
        server = self._server
        server.on_initialize = self._initialize
        server.on_initialized = self._initialized
        server.on_stop = self.sessions.stop
        server.on_open = self.documents.open
        server.on_change = self._mirroring.changed
        server.on_save = self._mirroring.saved
        server.on_close = self.documents.close
        server.on_watched_files = Watching(self.sessions.sessions).happened
        server.on_configuration = self._configuration.changed
        renaming = Renaming(self.sessions.sessions)
        server.handle("workspace/willRenameFiles", renaming.will)
        server.handle("workspace/didRenameFiles", renaming.did)
        server.announce(RENAMES)
        server.handle("acp/userActivity", self._user_acted)
        server.handle("acp/userSettings", self._configuration.user_changed, none_apart=True)
        server.handle("acp/transcript/snapshot", self._snapshot)
        server.handle(
            "window/workDoneProgress/cancel", lambda params: self._progress.cancelled(params)
        )
        server.handle(
            "textDocument/completion",
            Completion(self.sessions, self.documents).complete,
        )
        server.handle("textDocument/codeLens", self._lenses.code_lens)
        server.handle("textDocument/codeAction", self._lenses.code_action)
        server.announce(LENSES)
        commands.register(server, lambda: self._operations)

    # --- the editor's side ----------------------------------------------------------------

    def _initialize(self, params: dict[str, Any]) -> None:
        self.features = ClientFeatures.of(params)
        self.documents.set_encoding(cast(Encoding, self._server.position_encoding))
        self.documents.set_habits(
            Habits.of(self.features.client_name, reloads=self.features.reloads)
        )
        self._configuration.begin(
            params.get("initializationOptions"), pulled=self.features.configuration
        )
        self._surfaces()
        if not self.features.permission:
            self._tasks.start(self._dialogs.run(), name="dialogs")

    async def _initialized(self) -> None:
        wanted = (
            (self.features.configuration_registration, CONFIGURATION),
            (self.features.watched_files, WATCHED_FILES),
            (self.features.completion_registration, COMPLETION),
        )
        registrations = [registration for able, registration in wanted if able]
        if registrations:
            await self._ask("client/registerCapability", {"registrations": registrations})
        await self._configuration.pull()

    def _taken_back(self, uri: str) -> None:
        """A saving in that moment was refused by the editor, and nothing stands against it any
        more."""
        if self.features.save and self.features.reloads:
            self._server.notify_json("acp/saveAgain", {"uri": uri})

    def _follow_setting(self) -> None:
        wanted = self.settings.follow_enabled
        if wanted != self._follow_wanted:
            self._follow_wanted = wanted
            self._follow.set_enabled(wanted)

    def report_problems(self, problems: Sequence[Problem]) -> None:
        """Tell the user of settings of the user's file that were left out."""
        self._configuration.report(problems, user=True)

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        try:
            return await self._server.request(method, params, timeout=_ANSWER_SECONDS)
        except (ClientError, ClientGone, TimeoutError) as error:
            logger.info("the editor answered %s with an error: %s", method, error)
            return None

    def _user_acted(self, params: Any) -> None:
        self._follow.user_acted()

    def _snapshot(self, params: Any) -> Any:
        wanted = params.get("sessionId") if isinstance(params, Mapping) else None
        try:
            chosen = [self.sessions.session(wanted)] if wanted else self.sessions.sessions()
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        snapshots = [self._transcript.snapshot(session) for session in chosen]
        return snapshots[0] if wanted else {"sessions": snapshots}

    def _default_cwd(self) -> str | None:
        paths = self._folder_paths()
        return paths[0] if paths else None

    def _folder_paths(self) -> list[str]:
        paths = [uri_to_path(folder["uri"]) for folder in self._server.workspace_folders]
        return [path for path in paths if path]

    def _catalog(self) -> Mapping[str, AgentEntry]:
        try:
            return _known_agents(self.settings)
        except RegistryUnreadable as error:
            self._tell_of_registry(error)
            return catalog(self.settings.agents)

    def _tell_of_registry(self, error: RegistryUnreadable) -> None:
        self.tell("warning", f"The registry {self.settings.registry_source} is left out: {error}")

    async def _agents(self) -> list[dict[str, Any]]:
        """The agents a user can choose from (``acp.agent.list``)."""
        return await self._roster.rows(self.settings, self.sessions.logins())

    def _recording(self, agent: str) -> Wire | None:
        if self._recorder is None:
            return None
        try:
            return self._recorder.agent(agent)
        except OSError as error:
            # A full disk costs the recording, not the session.
            self.tell("warning", f"The conversation with {agent} is not recorded: {error}")
            return None

    # --- client.ports.Editor -----------------------------------------------------------------

    def changed(
        self, session: SessionView, changes: Sequence[Change], *, replay: bool = False
    ) -> None:
        self._transcript.changed(session, changes)
        self._terminals.changed(session, changes)
        if replay:
            return
        self._follow.changed(session, changes)
        self._turns.changed(session, changes)
        for change in changes:
            if isinstance(change, NoticeAdded):
                self._notice(session, change.notice.notice)

    def _notice(self, session: SessionView, notice: Notice) -> None:
        severity = _NOTICES.get(notice.severity, "info")
        said = notice.title + (f": {notice.description}" if notice.description else "")
        self.tell(severity, f"{session.agent_name} says: {visible(said)}")

    def turn_began(self, session: SessionView) -> None:
        self._follow.prompted()
        self._turns.began(session)

    def turn_says(self, session: SessionView, text: str) -> None:
        self._turns.says(session, text)

    def turn_ended(self, session: SessionView) -> None:
        self._transcript.flush()
        self._terminals.flush()
        self._turns.ended(session)

    def ask(self, question: Question) -> None:
        self._dialogs.ask(question)

    def offer(self, question: Question, answered: Callable[[str | None], None]) -> None:
        def once(choice: str | None) -> None:
            self._dialogs.withdraw(question.request_id)
            answered(choice)

        self._dialogs.ask(question, once)

    def withdraw(self, request_id: str) -> None:
        self._dialogs.withdraw(request_id)
        self._forms.withdraw(request_id)

    def elicit(self, asked: Asked) -> None:
        self._forms.elicit(asked)

    def open_url(self, url: str) -> None:
        self._tasks.start(self._pages.open(url), name="a page of the web")

    def choose(self, question: Question, answered: Callable[[str | None], None]) -> None:
        self._dialogs.ask(question, answered)

    @property
    def can_save(self) -> bool:
        return self.features.save

    async def save(self, uri: str) -> bool:
        answer = await self._ask("acp/save", {"uri": uri})
        return isinstance(answer, Mapping) and answer.get("saved") is True

    async def selection(self) -> Attachment | None:
        return await self._selecting.selection()

    async def reveal(self, session: SessionView, path: str, line: int | None) -> str | None:
        outcome = await self._follow.show(session, path, line)
        return None if outcome.shown else outcome.reason or "the editor did not show it"

    async def run_in_terminal(self, command: LoginCommand) -> int | None:
        return await self._login_places.run_in_terminal(command)

    async def ask_for_variables(
        self, agent: str, message: str, wanted: Sequence[Variable]
    ) -> Mapping[str, str] | None:
        return await self._login_places.ask_for_variables(agent, message, wanted)

    def tell(self, severity: Severity, text: str) -> None:
        self._messages.tell(severity, text)

    def files_changed(self, session: SessionView) -> None:
        self._review.changed(session)
        self._follow.files_changed(session)

    def proposed(self, session: SessionView, proposal: Proposal) -> None:
        self._proposing.proposed(session, proposal)
        self.files_changed(session)

    def settled(self, session: SessionView, proposal: Proposal) -> None:
        self._proposing.settled(proposal)
        self.files_changed(session)

    def queue_changed(self, session: SessionView) -> None:
        self._transcript.queue_changed(session)

    def _follow_moved(self, session: SessionView) -> None:
        if self.features.sidecar:
            state = session.state
            params = {"sessionId": state.session_id, **state.follow}
            self._server.notify_json(
                "acp/follow", params, droppable=("acp/follow", state.session_id)
            )


def _known_agents(settings: Settings) -> Mapping[str, AgentEntry]:
    """Every agent by name; reads the registry, and raises ``RegistryUnreadable``."""
    source = settings.registry_source
    if source is None:
        return catalog(settings.agents)
    found, _ = registries.entries(source, settings.registry_allow, folders.registries())
    return catalog(settings.agents, found)


def serve(
    settings: Settings,
    problems: Sequence[Problem],
    recorder: Recorder | None = None,
    wire: Wire | None = None,
) -> int:
    """Run the sidecar on stdin and stdout until the editor is done; the exit code.

    ``recorder`` takes the agents' traffic, ``wire`` the editor's.
    """
    server = SidecarServer("acp-sidecar", __version__)
    app = App(server, settings, recorder)
    server.protocol.record = wire
    initialized = server.on_initialized

    async def tell_problems() -> None:
        app.report_problems(problems)
        await initialized()

    server.on_initialized = tell_problems
    try:
        return server.run()
    finally:
        if recorder is not None:
            recorder.close()

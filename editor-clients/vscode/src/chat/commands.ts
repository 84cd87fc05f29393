import { commands, Disposable, Uri, window } from 'vscode';

import { showError } from '../failure.ts';
import { inTurn, STATUS_WORDS } from '../sessions/status.ts';
import { rowText, visible } from '../visible.ts';
import { chooseAgent, showHistory } from './history.ts';
import { mention } from './mention.ts';
import type { ChatParts } from './sources.ts';
import { statusOf } from './state.ts';
import type { ChatView } from './view.ts';

/** What can be done with sessions from the palette, the menus and by keys. */
export function registerChatCommands(chat: ChatView, parts: ChatParts): Disposable[] {
  const { sessions, sidecar } = parts;
  const register = (name: string, act: (...given: unknown[]) => unknown) =>
    commands.registerCommand(name, async (...given: unknown[]) => {
      try {
        await act(...given);
      } catch (error) {
        await showError(error);
      }
    });
  return [
    register('acp.openChat', () => chat.focus()),
    register('acp.newSession', async () => {
      const agent = await chooseAgent(parts, 'The agent of the new session');
      if (agent !== null || parts.agents.names().length <= 1) {
        await commands.executeCommand('acp.chat.focus');
        await chat.starting.start(agent);
        await chat.focus();
      }
    }),
    register('acp.chooseSession', async () => {
      const chosen = await window.showQuickPick(
        sessions.all().map((session) => ({
          label: rowText(chat.titleOf(session)),
          description: `${rowText(session.agent)} · ${STATUS_WORDS[statusOf(session)]}`,
          session,
        })),
        { placeHolder: 'The session to show' },
      );
      if (chosen) {
        sessions.select(chosen.session.sessionId);
        await chat.focus();
      }
    }),
    register('acp.closeSession', async () => {
      if (sessions.active) {
        await chat.close(sessions.active);
      }
    }),
    register('acp.showHistory', () =>
      showHistory(parts, (session, unsent) => chat.putBack(session, unsent)),
    ),
    register('acp.cancelTurn', async () => {
      const sessionId = sessions.active?.sessionId;
      if (sessionId) {
        await sidecar.command('acp.session.cancel', { sessionId });
      }
    }),
    register('acp.chooseMode', () => chooseMode(parts)),
    register('acp.chooseOption', () => chooseOption(parts)),
    register('acp.addSelection', () => addSelection(chat, parts)),
    register('acp.addFile', (uri, chosen) => addFiles(chat, parts, uri, chosen)),
    keepContexts(parts),
  ];
}

async function chooseMode({ sessions, sidecar }: ChatParts): Promise<void> {
  const session = sessions.active;
  const modes = session?.status?.modes;
  if (!session || !modes) {
    void window.showInformationMessage('The agent offers no modes.');
    return;
  }
  const chosen = await window.showQuickPick(
    modes.availableModes.map((mode) => ({
      label: rowText(mode.name),
      description: mode.id === modes.currentModeId ? 'now' : '',
      detail: rowText(mode.description ?? ''),
      id: mode.id,
    })),
    { placeHolder: `The mode of ${session.agent}` },
  );
  if (chosen) {
    await sidecar.command('acp.session.setMode', {
      sessionId: session.sessionId,
      modeId: chosen.id,
    });
  }
}

async function chooseOption({ sessions, sidecar }: ChatParts): Promise<void> {
  const session = sessions.active;
  const options = session?.status?.configOptions ?? [];
  if (!session || options.length === 0) {
    void window.showInformationMessage('The agent offers no options.');
    return;
  }
  const picked = await window.showQuickPick(
    options.map((option) => ({
      label: rowText(option.name),
      description: rowText(String(option.currentValue)),
      detail: rowText(option.description ?? ''),
      option,
    })),
    { placeHolder: `The option of ${session.agent}` },
  );
  if (!picked) {
    return;
  }
  const { option } = picked;
  const values =
    typeof option.currentValue === 'boolean'
      ? [true, false].map((value) => ({ label: value ? 'On' : 'Off', detail: '', value }))
      : (option.options ?? [])
          .flatMap((entry) => ('group' in entry ? entry.options : [entry]))
          .map(({ name, description, value }) => ({
            label: rowText(name),
            detail: rowText(description ?? ''),
            value,
          }));
  const chosen = await window.showQuickPick<{ label: string; value: string | boolean }>(values, {
    placeHolder: visible(option.name),
  });
  if (chosen) {
    await sidecar.command('acp.session.setConfigOption', {
      sessionId: session.sessionId,
      configId: option.id,
      value: chosen.value,
    });
  }
}

async function addSelection(chat: ChatView, parts: ChatParts): Promise<void> {
  const editor = window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') {
    void window.showInformationMessage('Select lines of a file first.');
    return;
  }
  const { selection } = editor;
  const range = selection.isEmpty ? null : selection;
  await chat.insert(await mention(parts, [editor.document.uri], range));
}

async function addFiles(
  chat: ChatView,
  parts: ChatParts,
  uri: unknown,
  chosen: unknown,
): Promise<void> {
  const given = Array.isArray(chosen) && chosen.length > 0 ? chosen : [uri];
  const uris = given.filter((it): it is Uri => it instanceof Uri);
  const active = window.activeTextEditor?.document.uri;
  const files = (uris.length > 0 ? uris : active ? [active] : []).filter(
    (it) => it.scheme === 'file',
  );
  if (files.length === 0) {
    void window.showInformationMessage('Only files on a disk can be named in a prompt.');
    return;
  }
  await chat.insert(await mention(parts, files));
}

/** Tells VS Code what the `when` clauses of the package's menus ask for. */
function keepContexts({ sidecar, sessions }: ChatParts): Disposable {
  const told = new Map<string, boolean>();
  const tell = (name: string, value: boolean) => {
    if (told.get(name) !== value) {
      told.set(name, value);
      void commands.executeCommand('setContext', name, value);
    }
  };
  const draw = () => {
    tell('acp.running', sidecar.running);
    tell('acp.hasSessions', sessions.all().length > 0);
    tell('acp.turnRuns', inTurn(sessions.active?.status?.status));
  };
  const subscriptions = [sessions.onDidChange(draw), sidecar.onDidChangeRunning(draw)];
  draw();
  return Disposable.from(...subscriptions);
}

import { commands, EventEmitter, type ExtensionContext, window, workspace } from 'vscode';

import { Asking } from './asking.ts';
import { ChatView } from './chat/view.ts';
import { registerRestartAgent, registerTryDemo, tellSettings } from './control.ts';
import { Doctor } from './doctor.ts';
import { Elicitations } from './elicitation.ts';
import { registerFollow } from './following.ts';
import { Login } from './login.ts';
import { Permission } from './permission.ts';
import { Previews } from './preview.ts';
import { Questions } from './questions.ts';
import { registerReview } from './review/register.ts';
import { saveForAgents } from './saving.ts';
import { Restoring } from './restoring.ts';
import { Service } from './service.ts';
import { Sessions } from './sessions.ts';
import { Sidecar } from './sidecar.ts';
import { userSettings } from './settings.ts';
import { Terminals } from './terminals.ts';
import { Trace } from './trace.ts';
import { registerWalkthrough } from './walkthrough.ts';

let sidecar: Sidecar | null = null;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel('ACP', { log: true });
  sidecar = new Sidecar(log);
  const sessions = new Sessions(sidecar);
  const service = new Service(context, log, sidecar);
  const restoring = new Restoring(
    context.workspaceState,
    sidecar,
    sessions,
    (session) => session.status?.title ?? null,
  );
  const chat = new ChatView(context.extensionUri, sessions);
  const questions = new Questions(sidecar);
  const forms = new Elicitations(sidecar);
  const previews = new Previews(questions);
  const asking = new Asking(questions, forms, previews, sessions);
  const permission = new Permission(questions, forms, asking, {
    shownSession: null,
    onDidChangeShown: new EventEmitter<undefined>().event,
    showQuestion: () => Promise.resolve(false),
  });
  const login = new Login(sidecar, questions, forms, asking);
  const terminals = new Terminals(sidecar);
  saveForAgents(sidecar);
  context.subscriptions.push(log, sidecar, sessions, restoring, service, chat);
  context.subscriptions.push(...registerFollow(context.extensionUri, sidecar, sessions));
  context.subscriptions.push(questions, forms, previews, permission, login, terminals);
  context.subscriptions.push(...registerReview(sidecar, sessions));
  context.subscriptions.push(
    commands.registerCommand('acp.showLog', () => log.show()),
    commands.registerCommand('acp.openChat', () => commands.executeCommand('acp.chat.focus')),
    commands.registerCommand('acp.newSession', async () => {
      const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
      if (cwd) {
        await sessions.start(null, cwd);
      }
    }),
  );
  const doctor = new Doctor({
    sidecar,
    launch: () => service.launch,
    settings: () => userSettings(workspace.getConfiguration('acp')),
  });
  context.subscriptions.push(
    doctor,
    new Trace(service),
    tellSettings(sidecar),
    registerRestartAgent(sidecar),
    registerTryDemo(sidecar, sessions),
    registerWalkthrough(context),
  );
  // Activation does not wait for it.
  void service.start();
}

export async function deactivate(): Promise<void> {
  await sidecar?.stop();
}

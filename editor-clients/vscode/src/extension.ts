import { commands, type ExtensionContext, window, workspace } from 'vscode';

import { ListedAgents } from './chat/agent_names.ts';
import { registerChatCommands } from './chat/commands.ts';
import { titleOf } from './chat/state.ts';
import { ChatView } from './chat/view.ts';
import { MadeFiles } from './encoding.ts';
import { registerFollow } from './follow/register.ts';
import { registerRestartAgent, registerTryDemo, tellSettings } from './launch/agent_commands.ts';
import { Doctor } from './launch/doctor.ts';
import { Service } from './launch/service.ts';
import { Trace } from './launch/trace.ts';
import { registerWalkthrough } from './launch/walkthrough.ts';
import { showMessages } from './messages.ts';
import { Asking } from './questions/asking.ts';
import { Elicitations } from './questions/elicitation.ts';
import { Permission } from './questions/permission.ts';
import { Previews } from './questions/preview.ts';
import { Questions } from './questions/questions.ts';
import { registerReview } from './review/register.ts';
import { saveForAgents } from './saving.ts';
import { Restoring } from './sessions/restoring.ts';
import { Sessions } from './sessions/sessions.ts';
import { userSettings } from './settings.ts';
import { Sidecar } from './sidecar.ts';
import { Login } from './terminals/login.ts';
import { Terminals } from './terminals/terminals.ts';
import { OpenFiles } from './watching.ts';

let sidecar: Sidecar | null = null;

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel('ACP', { log: true });
  sidecar = new Sidecar(log);
  const sessions = new Sessions(sidecar);
  const service = new Service(context, log, sidecar);
  const restoring = new Restoring(context.workspaceState, sidecar, sessions, titleOf);
  const questions = new Questions(sidecar);
  const forms = new Elicitations(sidecar);
  const previews = new Previews(questions);
  const asking = new Asking(questions, forms, previews, sessions);
  const terminals = new Terminals(sidecar);
  const agents = new ListedAgents(sidecar);
  const parts = {
    extensionUri: context.extensionUri,
    workspaceState: context.workspaceState,
    log,
    sidecar,
    sessions,
    status: service,
    agents,
    questions,
    forms,
    preview: previews,
    terminals,
  };
  const chat = new ChatView(parts);
  restoring.onDidFindUnsent(({ session, prompts }) => chat.putBack(session, prompts));
  const permission = new Permission(questions, forms, asking, chat);
  const login = new Login(sidecar, questions, forms, asking);
  saveForAgents(sidecar);
  context.subscriptions.push(new OpenFiles(), new MadeFiles(sessions));
  showMessages(sidecar);
  context.subscriptions.push(log, sidecar, sessions, restoring, service, agents, chat);
  context.subscriptions.push(...registerChatCommands(chat, parts));
  context.subscriptions.push(
    ...registerFollow(context.extensionUri, sidecar, sessions, () => chat.hasFocus),
  );
  context.subscriptions.push(questions, forms, previews, permission, login, terminals);
  context.subscriptions.push(...registerReview(sidecar, sessions));
  context.subscriptions.push(commands.registerCommand('acp.showLog', () => log.show()));
  const doctor = new Doctor({
    sidecar,
    launch: () => service.launch,
    settings: () => userSettings(workspace.getConfiguration('acp')),
  });
  context.subscriptions.push(
    doctor,
    new Trace(service),
    tellSettings(sidecar, () => agents.refresh()),
    registerRestartAgent(sidecar),
    registerTryDemo(sidecar, chat.starting),
    registerWalkthrough(context),
  );
  // Activation does not wait for it.
  void service.start();
}

export async function deactivate(): Promise<void> {
  await sidecar?.stop();
}

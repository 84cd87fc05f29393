import { commands, type Disposable, type ExtensionContext, workspace } from 'vscode';

const SHOWN = 'acp.walkthroughShown';

/** `ACP: Get Started`; shown by itself once, to those who let things open by themselves. */
export function registerWalkthrough(context: ExtensionContext): Disposable {
  const open = () =>
    commands.executeCommand(
      'workbench.action.openWalkthrough',
      `${context.extension.id}#start`,
      false,
    );
  if (workspace.isTrusted && context.globalState.get(SHOWN) !== true && wantsPages()) {
    void context.globalState.update(SHOWN, true);
    void open();
  }
  return commands.registerCommand('acp.openWalkthrough', open);
}

function wantsPages(): boolean {
  const workbench = workspace.getConfiguration('workbench');
  return (
    workbench.get('startupEditor') !== 'none' &&
    workbench.get('welcomePage.walkthroughs.openOnInstall') !== false
  );
}

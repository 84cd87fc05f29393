import { scenario, until } from './harness/index.ts';

const SETTINGS = {
  // So that its text is in the page.
  'terminal.integrated.gpuAcceleration': 'off',
};

scenario(
  "an agent's command is seen in a terminal from its beginning, and ended from there",
  { settings: SETTINGS },
  async (window) => {
    await window.activated();
    await window.chat.prompt("/run sh -c 'echo begins; sleep 300'");
    await window.showView('Explorer');
    await window.statusBar('1 question').waitFor();
    await window.command('ACP: Show Waiting Questions');
    await window.quickPick.titled('wants to run a command');
    await window.quickPick.choose('Yes');
    const sleeps = () => window.server.processes('sleep 300').length > 0;
    await until('the command runs', sleeps);

    await window.command('ACP: Show a Command of the Agent…');
    await window.quickPick.titled('Show what a command writes');
    await window.quickPick.accept();
    await window.terminalReads('begins');

    await window.command('ACP: Kill a Command of the Agent…');
    await window.terminalReads('The command');
    await until('the command has ended', () => !sleeps());
    await window.screenshot('terminal-killed');
  },
);

import { scenario } from './harness/index.ts';

// The start page "welcomePage" would show a walkthrough by itself.
const NEW = { settings: { 'workbench.startupEditor': 'readme' } };

scenario('someone new is shown what there is to do', NEW, async (window) => {
  await window.activated();
  const step = window.page.locator('.getting-started-step', { hasText: 'Let the sidecar run' });
  await step.waitFor();
  // It is done as soon as the sidecar runs.
  await step.locator('.codicon.complete').waitFor();
  await window.screenshot('walkthrough');
});

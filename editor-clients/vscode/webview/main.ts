import type { FromChat, ToChat } from '../src/chat/messages.ts';

const vscode = acquireVsCodeApi();

window.addEventListener('message', (event: MessageEvent<ToChat>) => {
  const chat = document.getElementById('chat');
  if (chat && event.data.type === 'blocks') {
    for (const block of event.data.blocks) {
      const line = document.createElement('p');
      line.textContent = `${block.kind} ${block.id}`;
      chat.append(line);
    }
  }
});
vscode.postMessage({ type: 'ready' } satisfies FromChat);

import type { FromChat, ToChat } from '../../src/chat/messages.ts';
import type { TestPage } from './page.ts';

// What VS Code gives the page: the way to the extension. `receive` is what comes from there.
const sent: FromChat[] = [];
const chat: TestPage = {
  sent,
  receive: (message: ToChat) => {
    window.dispatchEvent(new MessageEvent('message', { data: message }));
  },
  reload: () => {
    location.reload();
  },
};
Object.assign(window, {
  chat,
  acquireVsCodeApi: () => ({ postMessage: (message: FromChat) => sent.push(message) }),
});

import type { ChatState, FromChat, ToChat } from '../../src/chat/messages.ts';
import { Transcript } from '../../webview/transcript.ts';

/** The conversation alone on a page: `receive` is the extension, `sent` what it was told. */
export interface TestPage {
  receive: (message: ToChat) => void;
  sent: FromChat[];
  reload: () => void;
}

declare global {
  interface Window {
    chat: TestPage;
  }
}

const sent: FromChat[] = [];
const root = document.getElementById('chat');
let state: ChatState | null = null;
let transcript: Transcript | null = null;

function make(): void {
  root?.replaceChildren();
  transcript = root && new Transcript(root, (message) => sent.push(message));
}

function receive(message: ToChat): void {
  switch (message.type) {
    case 'state':
      state = { questions: [], elicitations: [], ...state, ...message.state };
      transcript?.setState(state);
      transcript?.show(state.active);
      break;
    case 'blocks':
    case 'terminal':
    case 'showQuestion':
      transcript?.apply(message);
      break;
  }
}

make();
window.chat = { receive, sent, reload: make };

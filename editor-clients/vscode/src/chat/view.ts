import { randomBytes } from 'node:crypto';

import {
  type Disposable,
  Uri,
  type Webview,
  type WebviewView,
  type WebviewViewProvider,
  window,
} from 'vscode';

import type { Sessions } from '../sessions.ts';
import type { FromChat, ToChat } from './messages.ts';

/** The chat in the side bar, or wherever the user has moved it. */
export class ChatView implements WebviewViewProvider, Disposable {
  readonly #extensionUri: Uri;
  readonly #sessions: Sessions;
  readonly #subscriptions: Disposable[] = [];
  #view: WebviewView | null = null;

  constructor(extensionUri: Uri, sessions: Sessions) {
    this.#extensionUri = extensionUri;
    this.#sessions = sessions;
    this.#subscriptions.push(
      window.registerWebviewViewProvider('acp.chat', this, {
        webviewOptions: { retainContextWhenHidden: true },
      }),
      sessions.onDidChangeBlocks(({ session, blocks }) =>
        this.#post({ type: 'blocks', sessionId: session.sessionId, blocks, reset: false }),
      ),
    );
  }

  resolveWebviewView(view: WebviewView): void {
    this.#view = view;
    const dist = Uri.joinPath(this.#extensionUri, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((message: FromChat) => this.#received(message));
    view.webview.html = page(view.webview, dist);
    view.onDidDispose(() => {
      if (this.#view === view) {
        this.#view = null;
      }
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) {
      subscription.dispose();
    }
  }

  #received(message: FromChat): void {
    if (message.type === 'ready') {
      for (const session of this.#sessions.all()) {
        this.#post({
          type: 'blocks',
          sessionId: session.sessionId,
          blocks: [...session.blocks.values()],
          reset: true,
        });
      }
    }
  }

  #post(message: ToChat): void {
    void this.#view?.webview.postMessage(message);
  }
}

function page(webview: Webview, dist: Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const uri = (name: string) => webview.asWebviewUri(Uri.joinPath(dist, name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    'img-src data: blob:',
  ].join('; ');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <link rel="stylesheet" href="${uri('style.css')}">
    <title>Chat</title>
  </head>
  <body>
    <div id="chat"></div>
    <script nonce="${nonce}" src="${uri('chat.js')}"></script>
  </body>
</html>`;
}

import { randomBytes } from 'node:crypto';

import { Uri, type Webview } from 'vscode';

import { policy } from './policy.ts';

/** The chat's page. */
export function page(webview: Webview, dist: Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const uri = (name: string) => webview.asWebviewUri(Uri.joinPath(dist, name)).toString();
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy(nonce, webview.cspSource)}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="${uri('style.css')}">
    <title>Chat</title>
  </head>
  <body>
    <div id="chat"></div>
    <script nonce="${nonce}" src="${uri('chat.js')}"></script>
  </body>
</html>`;
}

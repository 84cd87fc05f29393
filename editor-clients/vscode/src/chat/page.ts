import { randomBytes } from 'node:crypto';

import { Uri, type Webview } from 'vscode';

/** The chat's page: nothing inline, nothing from elsewhere. */
export function page(webview: Webview, dist: Uri): string {
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

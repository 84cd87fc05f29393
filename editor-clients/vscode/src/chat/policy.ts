/**
 * The Content-Security-Policy of the chat's page: nothing inline, nothing from elsewhere.
 *
 * @param nonce of the one script
 * @param source where its styles and fonts come from
 */
export function policy(nonce: string, source: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `font-src ${source}`,
    'img-src data: blob:',
  ].join('; ');
}

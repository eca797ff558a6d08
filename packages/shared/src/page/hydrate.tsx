// Reloads components while they are edited; nothing in production.
import '@vitejs/plugin-react/preamble'
import type { ComponentType } from 'react'
import { hydrateRoot } from 'react-dom/client'

/** Makes the page interactive with the data of the server, which wrote them just before the script. */
export function hydrate<Props extends object>(Page: ComponentType<Props>): void {
  const props: Props = JSON.parse(document.getElementById('state')?.textContent ?? '')
  hydrateRoot(document, <Page {...props} />, {
    // In production React repairs a mismatch silently. This prints it, so that a test can see it.
    onRecoverableError: (error) => console.error(error),
  })
}

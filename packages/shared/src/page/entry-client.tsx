// Reloads components while they are edited; nothing in production.
import '@vitejs/plugin-react/preamble'
import { hydrateRoot } from 'react-dom/client'
import { Document } from './document.tsx'
import { STATE_ID, type State } from './state.ts'

// The server writes this block just before this script.
const state: State = JSON.parse(document.getElementById(STATE_ID)?.textContent ?? '')

hydrateRoot(document, <Document {...state} />, {
  // In production React repairs a mismatch silently. This prints it, so that a test can see it.
  onRecoverableError: (error) => console.error(error),
})

import { type Routes, text } from './app.ts'

export const status: Routes = {
  '/_/status': { GET: () => text('OK') },
}

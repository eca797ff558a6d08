import { type Routes, text } from './handler.ts'

export const status: Routes = {
  '/_/status': { GET: () => text('OK') },
}

import { type Request, send } from '../src/request.ts'

export default { take }

/** The body is the file itself: `fetch('/uploads', { method: 'POST', body: file })`. Of a form, `r.readRequestForm()` would not show the content. */
function take(r: Request): void {
  send(r, 201, JSON.stringify({ size: r.requestBuffer?.length ?? 0 }))
}

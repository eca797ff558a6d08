import { type Request, send } from '../src/request.ts'

export default { take }

/** The body is the file itself, because njs has no parser of multipart forms: `fetch('/uploads', { method: 'POST', body: file })`. */
function take(r: Request & { readonly requestBuffer?: { length: number } }): void {
  send(r, 201, JSON.stringify({ size: r.requestBuffer?.length ?? 0 }))
}

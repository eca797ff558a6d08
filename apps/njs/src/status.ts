import { type Request, send } from './request.ts'

export default { status }

function status(r: Request): void {
  send(r, 200, 'OK')
}

import type { Request } from './request.ts'
import { send } from './send.ts'

export default { status }

function status(r: Request): void {
  send(r, 200, 'OK')
}

// biome-ignore lint/style/useNodejsImportProtocol: njs has these modules under their old names
import crypto from 'crypto'
// biome-ignore lint/style/useNodejsImportProtocol: the same
import querystring from 'querystring'
import { type Request, send, sendProblem, textOf } from '../src/request.ts'

export default { login, me, logout }

const { SESSION_SECRET: secret = '' } = process.env // NGINX keeps it if `env SESSION_SECRET;` is before `http`
if (secret.length < 32) throw new Error('SESSION_SECRET must have at least 32 characters.')

function login(r: Request): void {
  if (!isOwn(r)) return
  const { name } = querystring.parse(textOf(r))
  if (typeof name !== 'string' || name === '' || name.length > 100) {
    sendProblem(r, 400, 'Bad Request', { errors: [{ field: 'name', reason: 'must be a text' }] })
    return
  }
  const value = encodeURIComponent(name)
  setCookie(r, `${value}.${sign(value)}`, 86_400)
  send(r, 303, '/me') // of a redirect, the place
}

function me(r: Request): void {
  const [, value = '', signature = ''] =
    /(?:^|; )session=([^;]*)\.([^;.]*)/.exec(r.headersIn.cookie ?? '') ?? []
  // How long it takes to compare signatures of signatures tells nothing.
  if (sign(signature) === sign(sign(value))) send(r, 200, JSON.stringify({ name: decodeURIComponent(value) }))
  else sendProblem(r, 401, 'Unauthorized', { detail: 'Log in first.' })
}

function logout(r: Request): void {
  if (!isOwn(r)) return
  setCookie(r, '', 0)
  send(r, 303, '/')
}

/** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
function isOwn(r: Request): boolean {
  const { client_scheme: scheme, client_host: host } = r.variables
  if (r.headersIn.origin === `${scheme}://${host}`) return true
  sendProblem(r, 403, 'Forbidden', { detail: 'This form is from another site.' })
  return false
}

/** `Secure` if the browser uses TLS: TRUST_PROXY says which proxy can tell. */
function setCookie(r: Request, value: string, seconds: number): void {
  const secure = r.variables.client_scheme === 'https' ? '; Secure' : ''
  r.headersOut['set-cookie'] = `session=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${secure}`
}

function sign(text: string): string {
  return crypto.createHmac('sha256', secret).update(text).digest('base64url')
}

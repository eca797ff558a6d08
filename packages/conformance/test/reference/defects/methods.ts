import { asProblem, header, isOn, onOptions, onStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { replaceBody, replaceHeader } from '../message.ts'
import { type Defect, hello } from './defect.ts'

const KNOWN = 'another method on a known path is 405 or 404'
const OPTIONS = 'OPTIONS on a known path names its methods, or is a method like others'

export const methods: readonly Defect[] = [
  hello('405 that allows POST', KNOWN, onStatus(405, header('allow', 'GET, HEAD, POST'))),
  hello('405 that leaves HEAD out', KNOWN, onStatus(405, header('allow', 'GET'))),
  hello(
    '501 with a detail',
    KNOWN,
    onStatus(405, (a) => replaceHeader(asProblem(501, 'why')(a), 'allow')),
  ),
  hello('404 with allow', KNOWN, onStatus(405, asProblem(404))),
  hello('500 for a body that is not JSON', 'another method on a known path fails, whatever its body', {
    refuse: (r) => (String(r.body) === '{"a":' ? 500 : CORRECT.refuse(r)),
  }),
  hello('a body makes another method succeed', 'another method on a known path fails, whatever its body', {
    finish: (a, r) => (a.status === 405 && r.body.length > 0 ? { ...a, status: 200 } : a),
  }),
  hello('chunked bodies are 500', 'a chunked body of another method is read or refused', {
    refuse: (r) => (r.headers.some(([name]) => name === 'transfer-encoding') ? 500 : CORRECT.refuse(r)),
  }),
  hello('405 for an unknown path', 'another method on an unknown path is 404', {
    finish: (a, r) => (a.status === 404 && r.method === 'POST' ? asProblem(405)(a) : a),
  }),
  hello('OPTIONS is 200 without allow', OPTIONS, {
    finish: (a, r) =>
      isOn(r, 'OPTIONS') ? replaceBody(replaceHeader({ ...a, status: 200 }, 'allow'), 'OK') : a,
  }),
  hello('405 without allow', KNOWN, onStatus(405, header('allow'))),
  hello('another method served', KNOWN, {
    finish: (a, r) => (isOn(r, 'DELETE') ? { ...a, status: 200 } : a),
  }),
  hello('TRACE echoed', KNOWN, {
    finish: (a, r) => (isOn(r, 'TRACE') ? { ...a, status: 200 } : a),
  }),
  hello('204 with content-type', OPTIONS, onOptions(header('content-type', 'text/plain'))),
  hello('204 without allow', OPTIONS, onOptions(header('allow'))),
  hello('a preflight allowed', OPTIONS, {
    finish: (a, r) =>
      r.headers.some(([name]) => name === 'origin') ? replaceHeader(a, 'access-control-max-age', '1') : a,
  }),
]

import { header, onStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { replaceHeader } from '../message.ts'
import { type Defect, hello } from './defect.ts'

const REPLACED = 'an invalid x-request-id is replaced, and two of them by one'

export const ids: readonly Defect[] = [
  hello(
    'ids not kept by 405',
    'a valid x-request-id is kept',
    onStatus(405, (a) => replaceHeader(a, 'x-request-id', crypto.randomUUID())),
  ),
  hello('ids of 64 characters not kept', 'a valid x-request-id is kept', {
    requestId: ([id = '', ...rest]) => CORRECT.requestId(id.length > 63 ? [] : [id, ...rest]),
  }),
  hello('ids of 65 characters kept', REPLACED, {
    requestId: ([id = '']) => (id.length === 65 ? id : CORRECT.requestId([id])),
  }),
  hello('the first of two ids kept', REPLACED, {
    requestId: (values) => CORRECT.requestId(values.slice(0, 1)),
  }),
  hello('ids reused', 'a request without x-request-id gets a fresh one', {
    requestId: (values) => (values.length === 0 ? 'always-the-same' : CORRECT.requestId(values)),
  }),
  hello('no id on 404', 'an unknown path is 404', onStatus(404, header('x-request-id'))),
]

import { header, onPath, onStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { type Defect, status } from './defect.ts'

export const health: readonly Defect[] = [
  status(
    'health without no-store',
    'livez and readyz pass and are not stored',
    onPath('/livez', header('cache-control')),
  ),
  status('readyz missing', 'livez and readyz pass and are not stored', {
    path: (t) => (t === '/readyz' ? '/x' : CORRECT.path(t)),
  }),
  status('406 for another type', 'livez and readyz whatever the client accepts', {
    refuse: (r) => (r.headers.some(([, value]) => value === 'text/html') ? 404 : CORRECT.refuse(r)),
  }),
  status(
    'no-store on 405',
    'the refusal of another method on livez and readyz has no cache-control',
    onStatus(405, header('cache-control', 'no-store')),
  ),
  status(
    'the route of another role',
    'a path in another case, or almost a route, or of another role is unknown',
    {
      path: (t) => (t === '/json' ? '/_/status' : CORRECT.path(t)),
    },
  ),
]

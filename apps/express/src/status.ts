import { Router } from 'express'

export const status = Router({ caseSensitive: true, strict: true })

status.get('/_/status', (_request, response) => {
  response.type('text').send('OK')
})

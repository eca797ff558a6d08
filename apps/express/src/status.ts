import { Router } from 'express'

export const status = Router()

status.get('/_/status', (_request, response) => {
  response.type('text').send('OK')
})

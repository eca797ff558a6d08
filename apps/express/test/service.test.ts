import { Router } from 'express'
import { serve } from '#shared/testing/app.ts'
import { testService } from '#shared/testing/service.ts'
import { createApp } from '../src/app.ts'

const routes = Router()
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/hangs', () => {})
  .post('/echo', (request, response) => {
    response.json(request.body)
  })

testService((options) => serve(createApp(options, routes)))

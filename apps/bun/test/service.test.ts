import { testService } from '#shared/testing/service.ts'
import { readJson } from '../src/read-json.ts'
import { serve } from './serve.ts'

const routes = () => ({
  '/throws': () => {
    throw new Error('secret')
  },
  '/hangs': () => new Promise<Response>(() => {}),
  '/echo': { POST: async (request: Request) => Response.json(await readJson(request)) },
})

testService((options) => serve(options, routes))

import { serve } from '#shared/testing/app.ts'
import { testService } from '#shared/testing/service.ts'
import { createApp } from '../src/app.ts'
import { route } from '../src/router.ts'

const routes = [
  route('GET', '/throws', () => {
    throw new Error('secret')
  }),
  route('GET', '/hangs', () => new Promise(() => {})),
  route('POST', '/echo', async (context) => context.json(await context.readJson())),
]

testService((options) => serve(createApp(options, routes)))

import { toNodeHandler } from 'h3'
import { serve } from '#shared/testing/app.ts'
import { testPage } from '#shared/testing/page.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

testPage((options) => serve(toNodeHandler(createApp(options, ssr))))

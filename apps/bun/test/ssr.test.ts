import { testPage } from '#shared/testing/page.ts'
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

testPage((options) => serve(options, ssr))

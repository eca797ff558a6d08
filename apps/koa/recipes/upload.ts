// npm install @koa/multer multer && npm install --save-dev @types/koa__multer
import multer from '@koa/multer'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { fileName } from '#shared/files.ts'
import { limitConcurrency } from '#shared/load-shedding.ts'

const limits = { files: 1, fileSize: 2_000_000, fields: 0 } // bytes, in memory
const form = multer({ limits, defParamCharset: 'utf8' } as multer.Options) // the types lack it
const limit = limitConcurrency(16) // files in memory: 32 MB

/** Errors of multer and of forms have no status. Those of files, such as with `dest`, are failures. */
const readFile: Middleware = async (ctx, next) => {
  limit(ctx.res)
  await form
    .single('file')(ctx, async () => {})
    .catch((error: NodeJS.ErrnoException) => {
      if (error.syscall) throw error
      ctx.throw(error.code === 'LIMIT_FILE_SIZE' ? 413 : 400, error.message)
    })
  return next()
}

export const upload = new Router()

upload.post('/uploads', readFile, (ctx) => {
  const name = fileName(ctx.file?.originalname)
  ctx.status = 201
  ctx.body = { name, size: ctx.file?.size }
})

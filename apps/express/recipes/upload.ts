// npm install multer && npm install --save-dev @types/multer
import { type ErrorRequestHandler, Router } from 'express'
import createError from 'http-errors'
import multer from 'multer'
import { fileName } from '#shared/files.ts'
import { limitConcurrency } from '#shared/load-shedding.ts'

const form = multer({ limits: { files: 1, fileSize: 2_000_000, fields: 0 }, defParamCharset: 'utf8' }) // bytes, in memory
const limit = limitConcurrency(16) // files in memory: 32 MB

/** Errors of multer and of forms have no status. Those of files, such as with `dest`, are failures. */
const refuse: ErrorRequestHandler = (error, _request, _response, next) => {
  if (error.syscall || error.expose) return next(error)
  next(createError(error.code === 'LIMIT_FILE_SIZE' ? 413 : 400, error.message))
}

export const upload = Router()

upload
  .route('/uploads')
  .post((_request, response, next) => {
    limit(response)
    next()
  })
  .post(form.single('file'), refuse)
  .post((request, response) => {
    const name = fileName(request.file?.originalname)
    response.status(201).json({ name, size: request.file?.size })
  })

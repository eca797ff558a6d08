/** The built page of this repository, to compare with byte for byte. */
export type Page = typeof import('@startgrid/shared/page/server.js')

/** The page; undefined where it was not built. */
export async function loadPage(): Promise<Page | undefined> {
  try {
    return await import('@startgrid/shared/page/server.js')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

import { type PageProps, renderPage } from '@startgrid/shared/page/server.js'

/** What a worker thread does. */
export default (props: PageProps<'shop'>): string => renderPage('shop', props)

import type { ReactNode } from 'react'
import type { Product } from './shop/product.ts'

/**
 * The pages: for the name of each folder, what its component gets from a route. The browser gets the same as JSON, without the promises, for
 * which the component has a fallback.
 */
export interface Pages {
  shop: {
    /** How many products the page shows, 0 to 1000. */
    items: number
    /** Printed in the page. */
    requestId: string
    /** What the slow part shows, when it is there. Absent: the part belongs to the shell. */
    pending?: Promise<Product[]> | undefined
  }
}

export type PageName = keyof Pages

/** With the nonce in the content security policy of the same response. */
export type PageProps<Name extends PageName> = Pages[Name] & { nonce: string }

/** What a component `page.tsx` gets. It puts `children` at the end of its body: the data and the script, which only the server adds. */
export type DocumentProps<Name extends PageName> = Pages[Name] & { children?: ReactNode }

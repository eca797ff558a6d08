/** From this part of the driver's ceiling on, a rate may be the driver's, and not the server's. */
export const NEAR_CEILING = 0.9

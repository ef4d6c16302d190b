const quotedName = "'@runloop/api-client'"

/** The beginning of a program that calls the service with the public client. */
export const publicClient = (serviceUrl: string): string =>
  `import Runloop from ${quotedName}

const client = new Runloop({
  baseURL: ${JSON.stringify(serviceUrl)},
  bearerToken: process.env.DEVDECK_API_KEY,
})
`

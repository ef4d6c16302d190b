import { sourceHash } from './scripts/source-hash.ts'

/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // The image optimizer has had many advisories, and nothing here needs it.
  images: { unoptimized: true },
  // TypeScript 7 has no compiler API for Next to call; its command line does the same check.
  experimental: { useTypeScriptCli: true },
  // Types are checked by `npm run types`. A start must not fail on page types that an older dev server left in .next/dev.
  typescript: { ignoreBuildErrors: true },
  // node-pty and ws are only ever loaded by server.ts; keep them out of the route bundles.
  serverExternalPackages: ['rate-limiter-flexible', 'undici', 'web-push', 'ws'],
  devIndicators: false,
  // One line per request in development would bury the console's own output.
  logging: { incomingRequests: false },
  // server.ts builds again when the sources no longer have the hash their build is named by.
  generateBuildId: () => sourceHash(import.meta.dirname),
}

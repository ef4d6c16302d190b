/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // The image optimizer has been an advisory class of its own; nothing here needs it.
  images: { unoptimized: true },
  // TypeScript 7 has no compiler API for Next to call; its command line does the same check.
  experimental: { useTypeScriptCli: true },
  // node-pty and ws are only ever loaded by server.ts; keep them out of the route bundles.
  serverExternalPackages: ['ws'],
  devIndicators: false,
}

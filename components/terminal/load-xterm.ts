const load = () =>
  Promise.all([import('@xterm/xterm'), import('@xterm/addon-fit'), import('@xterm/addon-unicode-graphemes')])
let loading: ReturnType<typeof load> | undefined

/** On first use, as it is larger than everything else on the page; after a failure, again. */
export const loadXterm = () => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

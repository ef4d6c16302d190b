import { StartError } from '#lib/service/kit/errors.ts'

/** Plain processes are not isolated from each other, so they may belong to one account only. Throws a StartError. */
export const onlyAccount = (accounts: Iterable<string>): string => {
  const [first = 'local', ...others] = new Set(accounts)
  if (others.length > 0)
    throw new StartError(
      `Devboxes are plain processes without isolation, but there are keys of ${others.length + 1} accounts (${[first, ...others].join(', ')}). Install bubblewrap and omit --isolation none, or keep the keys of only one account (DEVDECK_API_KEYS, keys list, keys revoke)`,
    )
  return first
}

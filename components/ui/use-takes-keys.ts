import { useSyncExternalStore } from 'react'

/** False in what the server draws: what is typed before React has the page would be shown, and then taken away. */
export const useTakesKeys = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  )
const never = () => () => undefined

/** Random integers below a limit, repeatable by seed (Park and Miller). */
export const seededRandom = (seed: number) => {
  let state = (seed % 2_147_483_646) + 1
  return (limit: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}

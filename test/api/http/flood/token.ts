export const token = 'a-token-of-thirty-two-characters'

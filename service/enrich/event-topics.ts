import { toEventSelector } from "viem";

/** ERC-20 and ERC-721: topics 1 and 2 are from and to; ERC-721 has the id as topic 3. */
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
/** ERC-1155: topics 1, 2, 3 are operator, from, to. */
export const TRANSFER_SINGLE = toEventSelector("TransferSingle(address,address,address,uint256,uint256)");
export const TRANSFER_BATCH = toEventSelector("TransferBatch(address,address,address,uint256[],uint256[])");
/** ERC-20 and ERC-721: topics 1 and 2 are owner and spender; ERC-721 has the id as topic 3. */
export const APPROVAL = toEventSelector("Approval(address,address,uint256)");
/** ERC-721 and ERC-1155: topics 1 and 2 are owner and operator. */
export const APPROVAL_FOR_ALL = toEventSelector("ApprovalForAll(address,address,bool)");
/** ERC-4337: topics 1, 2, 3 are the operation's hash, its sender, its paymaster. */
export const USER_OPERATION = toEventSelector(
  "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)",
);

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
/** Wrapped native coin: topic 1 is whose. */
export const DEPOSIT = toEventSelector("Deposit(address,uint256)");
export const WITHDRAWAL = toEventSelector("Withdrawal(address,uint256)");
/** ERC-4337: topics 1, 2, 3 are the operation's hash, its sender, its paymaster. */
export const USER_OPERATION = toEventSelector(
  "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)",
);
/** ERC-4337: all operations of a bundle are valid, and what follows are their executions in order. */
export const BEFORE_EXECUTION = toEventSelector("BeforeExecution()");
/** What an entry point itself says of an operation that did not go well. */
export const OPERATION_TROUBLE: readonly string[] = [
  "UserOperationRevertReason(bytes32,address,uint256,bytes)",
  "PostOpRevertReason(bytes32,address,uint256,bytes)",
  "UserOperationPrefundTooLow(bytes32,address,uint256)",
].map((event) => toEventSelector(event));
/** Safe: the account that emits it has executed; up to 1.4.0 the hash is no topic. */
export const SAFE_SUCCESS = toEventSelector("ExecutionSuccess(bytes32,uint256)");
export const SAFE_FAILURE = toEventSelector("ExecutionFailure(bytes32,uint256)");
/** AggregatorV3: topics 1 and 2 are the answer and its round. */
export const ANSWER_UPDATED = toEventSelector("AnswerUpdated(int256,uint256,uint256)");

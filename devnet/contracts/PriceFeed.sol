// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @notice Chainlink AggregatorV3 feed whose answers anyone may set; it remembers the newest 64 rounds.
contract PriceFeed {
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error InvalidAnswer(int256 answer);
    error NoDataPresent(uint80 roundId);

    struct Round {
        uint80 id;
        uint64 updatedAt;
        int256 answer;
    }

    uint80 private constant REMEMBERED_ROUNDS = 64;

    uint256 public constant version = 4;
    uint8 public immutable decimals;
    string public description;

    uint80 private _latestRound;
    mapping(uint80 slot => Round round) private _rounds;

    constructor(string memory description_, uint8 decimals_, int256 firstAnswer) {
        description = description_;
        decimals = decimals_;
        _update(firstAnswer);
    }

    /// @notice Opens a new round with this answer; answers must be positive.
    function setAnswer(int256 answer) external {
        _update(answer);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return getRoundData(_latestRound);
    }

    function getRoundData(uint80 id)
        public
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round memory round = _rounds[id % REMEMBERED_ROUNDS];
        if (id == 0 || round.id != id) revert NoDataPresent(id);
        return (id, round.answer, round.updatedAt, round.updatedAt, id);
    }

    function _update(int256 answer) private {
        if (answer <= 0) revert InvalidAnswer(answer);
        uint80 roundId = ++_latestRound;
        _rounds[roundId % REMEMBERED_ROUNDS] = Round(roundId, uint64(block.timestamp), answer);
        emit AnswerUpdated(answer, roundId, block.timestamp);
    }
}

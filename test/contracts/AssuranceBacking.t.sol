// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {TrustedPayment} from "../../examples/TrustedPayment.sol";
import {OnG1, OnG3, OnV3} from "./escrow/EscrowFixture.sol";
import {AssuranceFixture} from "./AssuranceFixture.sol";
import {ScoreOracle} from "./ScoreOracle.sol";

/// @dev A ring of two wallets and a friend moves one bond around: it is paid at once, has its own job rejected, and
/// deposits what the slash brought for the next wallet. Records are those of test/golden/bond-records.json, which
/// scripts/generate-golden.ts computes as the service does.
abstract contract AssuranceBackingSuite is AssuranceFixture {
    address private constant SECOND = address(0xB3);
    address private constant FRIEND = address(0xF1);
    address private constant PAYER = address(0xBA1E);
    uint8 private constant GRADE_B = 80;
    uint256 private constant PRICE = BOND - 160_000;

    ScoreOracle private scores;
    TrustedPayment private payment;
    string private records;

    function setUp() public override {
        super.setUp();
        records = vm.readFile("test/golden/bond-records.json");
        scores = new ScoreOracle();
        payment = new TrustedPayment(scores.oracle(), address(usdc), 1 days);
        usdc.mint(PAYER, 4 * PRICE);
        vm.prank(PAYER);
        usdc.approve(address(payment), type(uint256).max);
    }

    function test_AWalletThatSlashesItselfTakesNothingFromPayers() external {
        uint256 paid = _payAtOnce(".bonded", PROVIDER);

        _slashItself();
        assertEq(usdc.balanceOf(FRIEND), BOND + 1, "the ring has its bond and its budget back");
        assertEq(_safeOf(".slashed"), _safeOf(".bonded"), "no record has to follow the bond");

        vm.startPrank(FRIEND);
        usdc.approve(address(accounts), BOND);
        accounts.depositAssuranceFor(SECOND, BOND);
        vm.stopPrank();
        paid += _payAtOnce(".second", SECOND);

        vm.startPrank(PAYER);
        payment.takeBack(PROVIDER);
        payment.takeBack(SECOND);
        vm.stopPrank();
        assertEq(usdc.balanceOf(PAYER), 4 * PRICE - paid, "what was held came back");
        uint256 spent = _uintAt(".bonded", ".ownMicroUsd") + _uintAt(".second", ".ownMicroUsd");
        assertLte(paid, spent, "paid at once, and spent for good before");
    }

    /// @dev Publishes the wallet's record. A payment of about the bond is held; the safe amount is paid at once.
    function _payAtOnce(string memory name, address wallet) private returns (uint256 safe) {
        scores.publishBacked(wallet, GRADE_B, uint16(_uintAt(name, ".safe")), NOW);
        safe = _safeOf(name);
        vm.startPrank(PAYER);
        payment.pay(wallet, PRICE);
        assertEq(usdc.balanceOf(wallet), 0, "not at once");
        assertEq(payment.held(PAYER, wallet), PRICE, "held");
        payment.pay(wallet, safe);
        assertEq(usdc.balanceOf(wallet), safe, "at once");
        payment.pay(wallet, 1);
        assertEq(usdc.balanceOf(wallet), safe, "no more on that day");
        vm.stopPrank();
    }

    /// @dev Commits the whole bond to a job of the wallet's friend, for a budget of one unit.
    function _slashItself() private {
        uint256 own = driver.create(FRIEND, PROVIDER, address(evaluator), NOW + LIFE, address(0));
        driver.setBudget(own, 1);
        driver.fund(own);
        driver.submit(own, WORK);
        _commit(own, BOND);
        _settle(_verdict(own, REJECT));
        accounts.slash(escrow, own);
    }

    function _safeOf(string memory name) private view returns (uint256) {
        return _uintAt(name, ".safeMicroUsd");
    }

    function _uintAt(string memory name, string memory key) private view returns (uint256) {
        return vm.parseJsonUint(records, string.concat(name, key));
    }
}

contract AssuranceBackingOnG1Test is AssuranceBackingSuite, OnG1 {}

contract AssuranceBackingOnG3Test is AssuranceBackingSuite, OnG3 {}

contract AssuranceBackingOnV3Test is AssuranceBackingSuite, OnV3 {}

module payouts

go 1.19

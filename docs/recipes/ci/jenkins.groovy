pipeline {
  agent any // with Node.js 20.19 or later
  stages {
    stage('payouts') {
      steps {
        sh 'npm ci' // with the tarball in vendor: docs/install.md
        sh 'node_modules/.bin/payout-sandbox referee --intent "client_ref_id=^(order-[0-9]+)" --report junit=referee.xml --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm test'
      }
    }
  }
  post {
    always { junit 'referee.xml' }
  }
}
